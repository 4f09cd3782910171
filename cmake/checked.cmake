# How kernels are compiled for the checker (treadle/simt/check), the library's own and those of programs that the driver builds
# (treadle/simt/driver/compile.cpp): each load and store is a call, and nothing of the sanitizer is linked. An assignment of
# float4 is one access, not four (-fno-tree-sra).
#
# Programs whose work is counted (treadle/simt/profile) have a call at each stretch of code, too, and only jumps whose aims can be
# read from the assembly.
set(checked_options -finline-small-functions -fno-tree-sra -fsanitize=thread,bounds,alignment -Wno-tsan
                    --param=tsan-distinguish-volatile=1 --param=tsan-instrument-func-entry-exit=0)
set(profiled_options -finline-small-functions -fno-tree-sra -fsanitize=thread -Wno-tsan --param=tsan-distinguish-volatile=1
                     --param=tsan-instrument-func-entry-exit=0 -fsanitize-coverage=trace-pc -fno-jump-tables)
