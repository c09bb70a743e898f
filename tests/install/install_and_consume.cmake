# cmake -DBUILD=… -DCONSUMER=… -P install_and_consume.cmake
set(WORK ${BUILD}/install_test)
file(REMOVE_RECURSE ${WORK})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

if(FLAGS)
  set(FLAGS -DCMAKE_CXX_FLAGS=-fsanitize=${FLAGS})
endif()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -G ${GENERATOR}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${WORK}/prefix ${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/build)
set(ENV{STRATA_CACHE_DIR} ${WORK}/cache)
run(${WORK}/build/products)
run(${WORK}/build/powers)
file(REMOVE_RECURSE ${WORK})
