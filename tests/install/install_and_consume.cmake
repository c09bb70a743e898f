# cmake -DBUILD=… -DCONSUMER=… -DGPU=… -P install_and_consume.cmake
set(WORK ${BUILD}/install_test)
file(REMOVE_RECURSE ${WORK})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

# The header that includes everything reaches all installed headers; the compiler complains if it
# reaches others.
function(check_headers umbrella)
  set(include ${WORK}/prefix/include)
  execute_process(COMMAND ${COMPILER} -std=c++20 -M -I${include} ${include}/strata/${umbrella}
                  OUTPUT_VARIABLE reached RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${umbrella} includes what is not installed")
  endif()
  string(REGEX REPLACE "[ \\\n\t]+" ";" reached "${reached}")
  file(GLOB_RECURSE unreached ${include}/*.hpp)
  list(REMOVE_ITEM unreached ${reached})
  if(unreached)
    message(FATAL_ERROR "installed, but not part of ${umbrella}: ${unreached}\n"
            "Include them there, or list them as private in cmake/StrataInstall.cmake.")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component strata-development)
if(GPU)
  check_headers(gpu.hpp)
else()
  check_headers(strata.hpp)
endif()
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -G ${GENERATOR}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
# Other tests run at the same time: idle threads must not spin on their cores.
set(ENV{OMP_WAIT_POLICY} passive)
set(ENV{STRATA_CACHE_DIR} ${WORK}/cache)
run(${WORK}/build/borrowed_arrays)
if(EXISTS ${WORK}/cache)
  message(FATAL_ERROR "a program that forbids writing has made a cache folder")
endif()
# These would measure the machine first, which is not what is tested here.
set(ENV{STRATA_PROFILE} off)
run(${WORK}/build/products)
run(${WORK}/build/powers)
run(${WORK}/build/cg)
if(EXISTS ${WORK}/build/gpu_powers)
  run(${WORK}/build/gpu_powers)
  run(${WORK}/build/gpu_cg)
elseif(GPU)
  message(FATAL_ERROR "the installed package does not bring strata::gpu")
endif()
file(REMOVE_RECURSE ${WORK})
