# How kernels are compiled for the checker (treadle/simt/check), the library's own and those of programs that the driver builds
# (treadle/simt/driver/compile.cpp): each load and store is a call, and nothing of the sanitizer is linked. An assignment of
# float4 is one access, not four (-fno-tree-sra).
set(checked_options -finline-small-functions -fno-tree-sra -fsanitize=thread,bounds,alignment -Wno-tsan
                    --param=tsan-distinguish-volatile=1 --param=tsan-instrument-func-entry-exit=0)
