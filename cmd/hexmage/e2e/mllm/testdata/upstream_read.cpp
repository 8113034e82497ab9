// Prints what upstream's reader finds in a model: read VERSION FILE. A line a tensor: name, type, shape, bytes, and their FNV-1a.

#include <cinttypes>
#include <cstdio>
#include <string>

#include "mllm/core/ParameterFile.hpp"

int main(int argc, char** argv) {
  using namespace mllm;
  if (argc != 3) return 2;
  auto file = std::string(argv[1]) == "v1" ? ParameterFileIOImpl<kCPU, ModelFileVersion::kV1>::read(argv[2])
                                           : ParameterFileIOImpl<kCPU, ModelFileVersion::kV2>::read(argv[2]);
  for (const auto& [name, tensor] : *file) {
    std::string shape;
    for (auto n : tensor.shape()) shape += (shape.empty() ? "" : ",") + std::to_string(n);
    const auto* data = tensor.ptr<uint8_t>();
    uint64_t sum = 14695981039346656037ull;
    for (size_t i = 0; i < tensor.bytes(); i++) sum = (sum ^ data[i]) * 1099511628211ull;
    printf("%s\t%s\t%s\t%zu\t%016" PRIx64 "\n", name.c_str(), nameOfType(tensor.dtype()).c_str(), shape.c_str(), (size_t)tensor.bytes(), sum);
  }
}
