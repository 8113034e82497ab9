"""A small module with random weights."""

import torch

ROWS, WIDE = 8, 64


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(WIDE, 2 * WIDE)
        self.second = torch.nn.Linear(2 * WIDE, WIDE)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.nn.functional.silu(self.first(x)))


def module() -> torch.nn.Module:
    torch.manual_seed(79)
    return Net()


def samples() -> list[tuple[torch.Tensor, ...]]:
    """Eight random inputs. For accuracy give the quantizer real ones."""
    torch.manual_seed(80)
    return [(torch.randn(1, ROWS, WIDE),) for _ in range(8)]
