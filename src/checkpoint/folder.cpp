#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "sticky/base/error.hpp"
#include "sticky/base/regular_file.hpp"

#include "safetensors.hpp"
#include "stored_checkpoint.hpp"

namespace sticky::checkpoint {

namespace {

namespace fs = std::filesystem;

constexpr i64 kMaxJsonBytes = 100'000'000;

Json read_json_object(const std::string& path) {
  const File file(path);
  if (file.size_bytes() > kMaxJsonBytes) {
    fail<FormatError>("{}: {} bytes, but at most {} are expected of such a file", path,
                      file.size_bytes(), kMaxJsonBytes);
  }
  const std::string text = file.text_at(0, file.size_bytes());
  Json json;
  try {
    json = Json::parse(text);
  } catch (const FormatError& e) {
    fail<FormatError>("{}: {}", path, e.what());
  }
  if (!json.is_object())
    fail<FormatError>("{}: is {}, but must be an object", path, json.kind_name());
  return json;
}

// tensor → file name, of model.safetensors.index.json.
std::map<std::string, std::string> read_weight_map(const std::string& path) {
  const Json index = read_json_object(path);
  const Json* weights = index.find("weight_map");
  if (weights == nullptr || !weights->is_object())
    fail<FormatError>("{}: has no object \"weight_map\"", path);
  std::map<std::string, std::string> files;
  for (const auto& [tensor, file] : weights->as_object()) {
    // The shards lie in the folder itself: a path would reach files that are not the model's.
    if (!file.is_string() || file.as_string().find('/') != std::string::npos ||
        !file.as_string().ends_with(".safetensors")) {
      fail<FormatError>("{}: weight_map: {}: {}, but must be the name of a .safetensors file", path,
                        tensor, file.dump());
    }
    files[tensor] = file.as_string();
  }
  return files;
}

void open_shards(const std::string& index_path, Contents& contents) {
  auto unseen = read_weight_map(index_path);
  std::set<std::string> names;
  for (const auto& [tensor, file] : unseen)
    names.insert(file);
  for (const std::string& name : names) {
    contents.files.emplace_back(contents.path + "/" + name);
    const File& file = contents.files.back();
    for (TensorInfo& tensor :
         read_safetensors_header(file, static_cast<i64>(contents.files.size()) - 1)) {
      const auto mapped = unseen.find(tensor.name);
      if (mapped == unseen.end() || mapped->second != name) {
        fail<FormatError>("{}: holds tensor {}, but {} does not say so", file.path(), tensor.name,
                          index_path);
      }
      unseen.erase(mapped);
      contents.tensors.push_back(std::move(tensor));
    }
  }
  if (!unseen.empty()) {
    const auto& [tensor, file] = *unseen.begin();
    fail<FormatError>("{}: weight_map: tensor {} should be in {}, but is not", index_path, tensor,
                      file);
  }
}

}  // namespace

Contents open_folder(const std::string& path) {
  Contents contents{.path = path};
  const auto inside = [&](const char* name) { return path + "/" + name; };
  if (!is_there(inside("config.json")))
    fail<FormatError>("{}: has no config.json; is this a model folder?", path);
  contents.config = read_json_object(inside("config.json"));
  if (is_there(inside("generation_config.json")))
    contents.generation_config = read_json_object(inside("generation_config.json"));
  if (is_there(inside("model.safetensors"))) {
    contents.files.emplace_back(inside("model.safetensors"));
    contents.tensors = read_safetensors_header(contents.files[0], 0);
  } else if (is_there(inside("model.safetensors.index.json"))) {
    open_shards(inside("model.safetensors.index.json"), contents);
  } else {
    fail<FormatError>(
        "{}: has neither model.safetensors nor model.safetensors.index.json (other forms of "
        "weights, such as pytorch_model.bin, are not read)",
        path);
  }
  return contents;
}

std::unique_ptr<Checkpoint> open_checkpoint(const std::string& path) {
  if (!is_there(path)) fail<ConfigError>("{}: there is no such model folder or file", path);
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  if (error) fail<ConfigError>("{}: cannot be looked at: {}", path, error.message());
  if (is_folder) return make_checkpoint(open_folder(path));
  if (!path.ends_with(".gguf")) {
    fail<ConfigError>(
        "{}: is neither a model folder (config.json and safetensors) nor a .gguf file", path);
  }
  return make_checkpoint(open_gguf(path));
}

}  // namespace sticky::checkpoint
