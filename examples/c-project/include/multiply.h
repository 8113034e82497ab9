#pragma once
int multiply(int a, int b);
