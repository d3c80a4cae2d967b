// Names that may be a user's: files that are made only where nothing is, folders with a marker.
#include "support/must.h"
#include "support/temp_dir.h"
#include "util/marked_folder.h"

#include <fstream>

#include "support/catch.h"

using namespace ibd;
using ibd::test::Must;
using ibd::test::TempDir;

namespace {

void Put(const Path& path) { std::ofstream(path) << "mine"; }

MarkedFolder FolderAt(const Path& path)
{
    return MarkedFolder(path, {.name = "ours", .text = "text\n", .user = "the test"});
}

bool IsNamedA(const std::string& name) { return name.starts_with("a"); }

} // namespace

TEST_CASE("a file is made only where nothing has its name")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    Put(dir / "file");
    std::filesystem::create_symlink(dir / "nowhere", dir / "link");
    std::filesystem::create_directory(dir / "folder");
    for (const char* name : {"file", "link", "folder"}) {
        const auto made = env->CreateFile(dir / name);
        REQUIRE_FALSE(made.Ok());
        CHECK(made.Message().find("File exists") != std::string::npos);
    }
    CHECK_FALSE(std::filesystem::exists(dir / "nowhere"));
    CHECK(AsChars(Must(ReadWholeFile(*env, dir / "file"))) == "mine");
    Must(Must(env->CreateFile(dir / "new"))->WriteAt(0, AsBytes("made")));
    CHECK(AsChars(Must(ReadWholeFile(*env, dir / "new"))) == "made");
}

TEST_CASE("a folder without the marker is left alone")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const MarkedFolder folder = FolderAt(dir / "folder");
    std::filesystem::create_directory(dir / "folder");
    Put(dir / "folder/a");
    CHECK_FALSE(folder.Make(*env).Ok());
    Must(folder.RemoveFiles(*env, IsNamedA));
    Must(folder.RemoveIfEmpty(*env));
    CHECK(std::filesystem::exists(dir / "folder/a"));
}

TEST_CASE("of a marked folder only named files go, and it only when it is empty")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const MarkedFolder folder = FolderAt(dir / "folder");
    Must(folder.Make(*env));
    Must(folder.Make(*env));
    Put(dir / "folder/a");
    Put(dir / "folder/b");
    Must(folder.RemoveFiles(*env, IsNamedA));
    Must(folder.RemoveIfEmpty(*env));
    CHECK_FALSE(std::filesystem::exists(dir / "folder/a"));
    CHECK(std::filesystem::exists(dir / "folder/b"));
    CHECK(std::filesystem::exists(dir / "folder/ours"));
    std::filesystem::remove(dir / "folder/b");
    Must(folder.RemoveIfEmpty(*env));
    CHECK_FALSE(std::filesystem::exists(dir / "folder"));
}

TEST_CASE("a link to a folder stays, and the folder")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    std::filesystem::create_directory(dir / "room");
    std::filesystem::create_symlink(dir / "room", dir / "link");
    const MarkedFolder folder = FolderAt(dir / "link");
    Must(folder.Make(*env));
    Must(folder.RemoveIfEmpty(*env));
    CHECK(std::filesystem::is_symlink(dir / "link"));
    CHECK(std::filesystem::exists(dir / "room/ours"));
}
