#include "demo/demo.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "demo/scenes.hpp"

namespace semel::demo {
namespace {

// A temporary folder goes when this does.
class demo_folder {
public:
    explicit demo_folder(const std::string& keep) : is_temporary_(keep.empty()) {
        path_ = is_temporary_ ? temporary() : named(keep);
    }
    demo_folder(const demo_folder&) = delete;
    demo_folder& operator=(const demo_folder&) = delete;
    ~demo_folder() {
        std::error_code ignored;
        if (is_temporary_) std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    static std::filesystem::path temporary() {
        std::string name = std::filesystem::temp_directory_path() / "semel-demo-XXXXXX";
        if (mkdtemp(name.data()) != nullptr) return name;
        throw std::system_error(errno, std::generic_category(), "cannot make " + name);
    }

    static std::filesystem::path named(const std::filesystem::path& path) {
        std::error_code wrong;
        std::filesystem::create_directories(path, wrong);
        if (wrong) {
            throw std::invalid_argument("cannot make the folder " + path.string() + ": " +
                                        wrong.message());
        }
        if (!std::filesystem::exists(path / shop_file)) return path;
        throw std::invalid_argument("the folder " + path.string() +
                                    " holds an earlier demo; name a new one");
    }

    const bool is_temporary_;
    std::filesystem::path path_;
};

} // namespace

judgement play(const options& with) {
    const demo_folder folder{with.folder};
    const narrator tell{with.how};
    auto scenes = all_scenes(folder.path());
    world in{folder.path()};
    engine records = make_engine(in);
    tell.line("An order service on the embedded store, in " + folder.path().string() + ".");
    tell.line("Beside it the naive one: look the key up; if it is new, do the work; then remember "
              "it.");
    tell.line("An effect is a row in the table of orders or of charges, and is counted there.");
    std::vector<scene_report> reports;
    for (auto& one : scenes) reports.push_back(one.play(in, records, tell, reports.size() + 1));
    tell.summary(reports);
    return judge(reports);
}

} // namespace semel::demo
