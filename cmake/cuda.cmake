# Turns the CUDA language on: sm_90a code, and PTX for compute_75 that any later card can translate.
find_program(NVCC nvcc HINTS /usr/local/cuda/bin)
if(NOT NVCC)
  message(FATAL_ERROR "The preset 'cuda' needs nvcc (CUDA 13); it is not in PATH nor in /usr/local/cuda/bin")
endif()
set(CMAKE_CUDA_COMPILER ${NVCC})
set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90a-real)
enable_language(CUDA)
# CMake 3.25 does not know nvcc's C++20 and drops it silently.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
find_package(CUDAToolkit REQUIRED)
