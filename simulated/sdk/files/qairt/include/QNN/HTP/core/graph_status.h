// The result of an op.
// hexmage simulated: written from call sites alone; numbers are ours.
#pragma once

// GraphStatus is returned by every op. Only Success lets the graph go on.
class GraphStatus {
 public:
  enum GraphErrorCode : int {
    Success = 0,
    ErrorFatal = 1,
    ErrorDimensions = 2,
    ErrorUnsupported = 3,
    ErrorPrecision = 4,
    ErrorBadInput = 5,
  };

  constexpr GraphStatus(GraphErrorCode code = Success) : code_(code) {}
  constexpr operator GraphErrorCode() const { return code_; }

 private:
  GraphErrorCode code_;
};
