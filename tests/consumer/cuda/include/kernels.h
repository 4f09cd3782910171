#pragma once

void scale(float* x, int n);
