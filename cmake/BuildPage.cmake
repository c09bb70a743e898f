# cmake -DSOURCE=web -DBINARY=FOLDER -DNPM=npm -DNODE=node -P BuildPage.cmake
#
# Builds the page of `strata report` from a copy of its sources, so that nothing is written beside
# them. Where npm cannot get what the page is made of, the build goes on without: the command says
# so when it is asked for a report.
set(work ${BINARY}/work)
file(MAKE_DIRECTORY ${work})
file(REMOVE_RECURSE ${work}/src)
file(COPY ${SOURCE}/ DESTINATION ${work} PATTERN node_modules EXCLUDE PATTERN dist EXCLUDE
     PATTERN screenshots EXCLUDE)
execute_process(COMMAND ${NPM} ci --no-audit --no-fund --loglevel=error WORKING_DIRECTORY ${work}
                RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT failed)
  execute_process(COMMAND ${NODE} build.mjs WORKING_DIRECTORY ${work} RESULT_VARIABLE failed
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
endif()
if(failed)
  message(WARNING "The report page was not built:\n${output}")
else()
  file(COPY ${work}/dist/ DESTINATION ${BINARY})
endif()
file(TOUCH ${BINARY}/built)
