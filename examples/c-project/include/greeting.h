#pragma once
#define GREETING "The product is"
