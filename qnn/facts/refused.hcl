# Operations that stay on the CPU, and what may stand in their place. Each of ONNX's was compiled both ways, and both say the same on the CPU. The list of ONNX's is that of
# the provider of QAIRT 2.51.0; operations that it does not have and of which nothing is said here have no equal that was tried.

refused "Acos" {
  format = "onnx"
  change = "pi/2 - atan(x / sqrt(1 - x*x)): Mul, Sub, Sqrt, Div, Atan"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79"
}

refused "Acosh" {
  format = "onnx"
  change = "log(x + sqrt(x*x - 1)): Mul, Sub, Sqrt, Add, Log"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79"
}

refused "Asin" {
  format = "onnx"
  change = "atan(x / sqrt(1 - x*x)): Mul, Sub, Sqrt, Div, Atan"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79"
}

refused "Asinh" {
  format = "onnx"
  change = "log(x + sqrt(x*x + 1)): Mul, Add, Sqrt, Add, Log; in 16-bit floats it is off by 0.1 near x = -10, by 0.5 near -20, and infinite from 256 on"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79"
}

refused "Atanh" {
  format = "onnx"
  change = "log((1 + x) / (1 - x)) / 2: Add, Sub, Div, Log, Mul"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79"
}

refused "Celu" {
  format = "onnx"
  change = "alpha * elu(x / alpha): Elu, with Mul before and after it where alpha is not 1"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79"
}

refused "Cosh" {
  format = "onnx"
  change = "(exp(x) + exp(-x)) / 2: Exp, Neg, Add, Mul; 16-bit floats hold exp(x) up to x = 11"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79"
}

refused "Hardmax" {
  format = "onnx"
  change = "x == max(x), where only one element is the largest: ReduceMax, Equal, Cast"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79"
}

refused "ReduceL1" {
  format = "onnx"
  change = "Abs, ReduceSum"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79"
}

refused "ReduceLogSum" {
  format = "onnx"
  change = "ReduceSum, Log"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79"
}

refused "ReduceSumSquare" {
  format = "onnx"
  change = "Mul of x with itself, ReduceSum"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79"
}

refused "Shrink" {
  format = "onnx"
  change = "of bias 0: Abs, Greater and Where with 0"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79"
}

refused "Sinh" {
  format = "onnx"
  change = "(exp(x) - exp(-x)) / 2: Exp, Neg, Sub, Mul; 16-bit floats hold exp(x) up to x = 11"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79"
}

refused "Softsign" {
  format = "onnx"
  change = "x / (1 + |x|): Abs, Add, Div"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79"
}

refused "Trilu" {
  format = "onnx"
  change = "Mul with a constant of ones and zeros"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79"
}

refused "*" {
  format = "onnx"
  rank   = 6
  change = "five dimensions at most: join some by Reshape before it, and part them after"
  sure   = "observed"
  source = "the compiler of QAIRT 2.51.0, for v79, of Sin"
}
