# Operations that stay on the CPU, with their replacements. Each ONNX operation and its replacement were compiled; on the CPU, both
# give equal results. The ONNX operations are those missing from the provider of QAIRT 2.51.0. Missing operations that are not listed
# have no tested replacement.

unsupported_op "Acos" {
  format     = "onnx"
  change     = "pi/2 - atan(x / sqrt(1 - x*x)): Mul, Sub, Sqrt, Div, Atan"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79"
}

unsupported_op "Acosh" {
  format     = "onnx"
  change     = "log(x + sqrt(x*x - 1)): Mul, Sub, Sqrt, Add, Log"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79"
}

unsupported_op "Asin" {
  format     = "onnx"
  change     = "atan(x / sqrt(1 - x*x)): Mul, Sub, Sqrt, Div, Atan"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79"
}

unsupported_op "Asinh" {
  format     = "onnx"
  change     = "log(x + sqrt(x*x + 1)): Mul, Add, Sqrt, Add, Log; in 16-bit floats it is off by 0.1 near x = -10, by 0.5 near -20, and infinite from 256 on"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79"
}

unsupported_op "Atanh" {
  format     = "onnx"
  change     = "log((1 + x) / (1 - x)) / 2: Add, Sub, Div, Log, Mul"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79"
}

unsupported_op "Celu" {
  format     = "onnx"
  change     = "alpha * elu(x / alpha): Elu, with Mul before and after it where alpha is not 1"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79"
}

unsupported_op "Cosh" {
  format     = "onnx"
  change     = "(exp(x) + exp(-x)) / 2: Exp, Neg, Add, Mul; 16-bit floats hold exp(x) up to x = 11"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79"
}

unsupported_op "Hardmax" {
  format     = "onnx"
  change     = "x == max(x), where only one element is the largest: ReduceMax, Equal, Cast"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79"
}

unsupported_op "ReduceL1" {
  format     = "onnx"
  change     = "Abs, ReduceSum"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79"
}

unsupported_op "ReduceLogSum" {
  format     = "onnx"
  change     = "ReduceSum, Log"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79"
}

unsupported_op "ReduceSumSquare" {
  format     = "onnx"
  change     = "Mul of x with itself, ReduceSum"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79"
}

unsupported_op "Shrink" {
  format     = "onnx"
  change     = "of bias 0: Abs, Greater and Where with 0"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79"
}

unsupported_op "Sinh" {
  format     = "onnx"
  change     = "(exp(x) - exp(-x)) / 2: Exp, Neg, Sub, Mul; 16-bit floats hold exp(x) up to x = 11"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79"
}

unsupported_op "Softsign" {
  format     = "onnx"
  change     = "x / (1 + |x|): Abs, Add, Div"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79"
}

unsupported_op "Trilu" {
  format     = "onnx"
  change     = "Mul with a constant of ones and zeros"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79"
}

unsupported_op "*" {
  format     = "onnx"
  rank       = 6
  change     = "five dimensions at most: join some by Reshape before it, and part them after"
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0, for v79, of Sin"
}
