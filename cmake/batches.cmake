# Sources compiled several at once: what the standard library's templates cost is then paid once for each batch. Names in
# anonymous namespaces must differ within a batch.

# compile_in_batches(TARGET [SOURCE…]): all but these sources.
function(compile_in_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TREADLE_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
