# semel_proto(target PROTO …): the messages and services of one .proto file as a static library.
# Generated code is not ours to warn about, and nobody waits for it to be fast: -O1, no warnings.
function(semel_proto target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROTO" "")
  semel_find(protobuf::libprotobuf gRPC::grpc++)
  get_filename_component(stem ${arg_PROTO} NAME_WE)
  get_filename_component(folder ${arg_PROTO} DIRECTORY)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target})
  file(MAKE_DIRECTORY ${out})
  set(generated ${out}/${stem}.pb.cc ${out}/${stem}.grpc.pb.cc)
  add_custom_command(
    OUTPUT ${generated} ${out}/${stem}.pb.h ${out}/${stem}.grpc.pb.h
    COMMAND protobuf::protoc --cpp_out=${out} --grpc_out=${out} -I${folder}
      --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin> ${arg_PROTO}
    DEPENDS ${arg_PROTO} VERBATIM)
  add_library(${target} STATIC ${generated})
  target_include_directories(${target} SYSTEM PUBLIC ${out})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -O1 -w)
  target_link_libraries(${target} PUBLIC gRPC::grpc++ protobuf::libprotobuf)
endfunction()
