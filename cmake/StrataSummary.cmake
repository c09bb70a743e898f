# The last words of a configure run: what is on, what is off, and why.

set_property(GLOBAL PROPERTY STRATA_SUMMARY "")

# strata_summary(<name> <ON|OFF> <reason or detail>)
function(strata_summary name state detail)
  string(LENGTH "${name}" length)
  math(EXPR gap "14 - ${length}")
  string(REPEAT " " ${gap} spaces)
  if(state)
    set(state "on ")
  else()
    set(state "off")
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY STRATA_SUMMARY
               "  ${name}${spaces}${state}  ${detail}\n")
endfunction()

function(strata_print_summary)
  get_property(lines GLOBAL PROPERTY STRATA_SUMMARY)
  message(STATUS "Strata ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, "
                 "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\n${lines}")
endfunction()
