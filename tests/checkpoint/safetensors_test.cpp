#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "tests/checkpoint/hostile.hpp"

namespace sticky::test {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

constexpr std::string_view kTwoTensors =
    R"({"__metadata__":{"format":"pt"},)"
    R"("b":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]},)"
    R"("a":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]}})";

class Safetensors : public testing::Test {
 protected:
  Safetensors() { (void)folder_.write("config.json", "{}"); }
  std::string open(std::string_view bytes) {
    (void)folder_.write("model.safetensors", bytes);
    return open_and_read(folder_.path());
  }
  std::string open_header(std::string_view header, i64 n_bytes = 16) {
    return open(safetensors(header, n_bytes));
  }
  // The message for one tensor "t" with these members and 16 bytes of data.
  std::string open_tensor(const std::string& members) {
    return open_header(R"({"t":{)" + members + "}}");
  }
  TempDir folder_;
};

TEST_F(Safetensors, ValuesOfAllThreeTypesAreWidenedExactly) {
  ByteWriter out;
  out.string(R"({"half":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
             R"("brain":{"dtype":"BF16","shape":[2,1],"data_offsets":[4,8]},)"
             R"("full":{"dtype":"F32","shape":[],"data_offsets":[8,12]}})");
  for (const int bits : {0x3555, 0x8001})  // 1365 / 4096; the smallest negative subnormal
    out.number(static_cast<std::uint16_t>(bits));
  for (const int bits : {0x3eab, 0xff7f})
    out.number(static_cast<std::uint16_t>(bits));
  out.number(0.1F);
  (void)folder_.write("model.safetensors", out.take());

  const auto checkpoint = checkpoint::open_checkpoint(folder_.path());
  const auto values = [&](std::string_view name) {
    const auto* tensor = checkpoint->find(name);
    std::vector<float> all(static_cast<std::size_t>(tensor->rows() * tensor->cols()));
    checkpoint->read_rows(*tensor, 0, tensor->rows(), all);
    return all;
  };

  EXPECT_THAT(values("half"), ElementsAre(1365.0F / 4096.0F, -0x1p-24F));
  EXPECT_THAT(values("brain"), ElementsAre(171.0F / 512.0F, -0x1.fep127F));
  EXPECT_THAT(values("full"), ElementsAre(0.1F));
}

TEST_F(Safetensors, TensorsComeInTheOrderOfTheirBytes) {
  (void)folder_.write("model.safetensors", safetensors(kTwoTensors, 16));

  const auto checkpoint = checkpoint::open_checkpoint(folder_.path());

  ASSERT_EQ(checkpoint->tensors().size(), 2U);
  EXPECT_EQ(checkpoint->tensors()[0].name, "a");
  EXPECT_EQ(checkpoint->tensors()[0].storage, checkpoint::Storage::bf16);
  EXPECT_THAT(checkpoint->tensors()[0].shape, ElementsAre(2, 2));
  EXPECT_EQ(checkpoint->tensors()[1].name, "b");
  EXPECT_EQ(checkpoint->tensors()[1].offset_bytes, checkpoint->tensors()[0].offset_bytes + 8);
  EXPECT_EQ(checkpoint->find("c"), nullptr);
}

TEST_F(Safetensors, AFileCutAtAnyLengthIsRefused) {
  const std::string whole = safetensors(kTwoTensors, 16);
  ASSERT_EQ(open(whole), "");

  for (std::size_t n = 0; n < whole.size(); ++n)
    ASSERT_THAT(open(whole.substr(0, n)), HasSubstr("model.safetensors: ")) << n << " bytes";
}

TEST_F(Safetensors, FlippedBitsGiveAnErrorOrAValidFile) {
  const std::string whole = safetensors(kTwoTensors, 16);
  int n_refused = 0;

  for (std::uint32_t seed = 0; seed < 500; ++seed)
    n_refused += open(flipped(whole, seed)).empty() ? 0 : 1;

  EXPECT_GT(n_refused, 250);  // most bytes are structure
}

TEST_F(Safetensors, ATruncatedFileIsNamedWithBothSizes) {
  EXPECT_THAT(open(safetensors(kTwoTensors, 16).substr(0, 25)),
              EndsWith("/model.safetensors: header says 144 bytes, but only 17 follow it; is the "
                       "download complete?"));
  EXPECT_THAT(open("1234567"), EndsWith("/model.safetensors: 7 bytes cannot be a safetensors "
                                        "file, which has at least 8"));
}

TEST_F(Safetensors, AHeaderOfTheWrongFormIsNamed) {
  EXPECT_THAT(open_header("{\"a\":"), HasSubstr("model.safetensors: header: at byte "));
  EXPECT_THAT(open_header("[1]"), EndsWith(": header: is an array, but must be an object"));
  EXPECT_THAT(open_header(R"({"t":3})"),
              EndsWith(": tensor t: is an integer, but must be an object"));
}

TEST_F(Safetensors, EveryFieldOfATensorIsChecked) {
  EXPECT_THAT(open_tensor(R"("shape":[4],"data_offsets":[0,16])"),
              EndsWith(R"(: tensor t: has no "dtype")"));
  EXPECT_THAT(open_tensor(R"("dtype":"I64","shape":[2],"data_offsets":[0,16])"),
              EndsWith(R"(: tensor t: dtype "I64", but only "F32", "F16" and "BF16" can be read)"));
  EXPECT_THAT(open_tensor(R"("dtype":"F32","shape":4,"data_offsets":[0,16])"),
              EndsWith(": tensor t: shape is an integer, but must be an array"));
  EXPECT_THAT(open_tensor(R"("dtype":"F32","shape":[4,-1],"data_offsets":[0,16])"),
              EndsWith("shape holds -1, but must hold integers that are not negative"));
  EXPECT_THAT(open_tensor(R"("dtype":"F32","shape":[4.0],"data_offsets":[0,16])"),
              HasSubstr("shape holds 4.0"));
  EXPECT_THAT(open_tensor(R"("dtype":"F32","shape":[4],"data_offsets":[16,0])"),
              EndsWith(": tensor t: data_offsets [16,0], but must be [begin, end]"));
  EXPECT_THAT(open_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,16])"),
              EndsWith(": data_offsets hold 16 bytes, but its shape [2] in f32 needs 8"));
}

TEST_F(Safetensors, SizesThatOverflowAreRefused) {
  const std::string four_billion = "4294967296";

  EXPECT_THAT(open_tensor(R"("dtype":"F32","data_offsets":[0,0],"shape":[)" + four_billion + "," +
                          four_billion + "]"),
              EndsWith(": tensor t: the product of its dimensions exceeds 2^63"));
  // A 0 must not hide it: rows of 2^64 elements would still be asked for.
  EXPECT_THAT(open_tensor(R"("dtype":"F32","data_offsets":[0,0],"shape":[0,)" + four_billion + "," +
                          four_billion + "]"),
              EndsWith(": tensor t: the product of its dimensions exceeds 2^63"));
  EXPECT_THAT(open_tensor(R"("dtype":"F32","data_offsets":[0,0],"shape":[4611686018427387904])"),
              EndsWith(": tensor t: its 4611686018427387904 elements need more than 2^63 bytes"));
}

TEST_F(Safetensors, RangesOutsideTheFileOrInsideAnotherTensorAreRefused) {
  EXPECT_THAT(open_tensor(R"("dtype":"F32","shape":[5],"data_offsets":[0,20])"),
              EndsWith(": tensor t: data_offsets end at 20, but only 16 bytes follow the header; "
                       "is the download complete?"));
  EXPECT_THAT(open_header(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},)"
                          R"("b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})"),
              HasSubstr("tensor b starts at byte "));
  EXPECT_THAT(open_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                          R"("b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})"),
              HasSubstr("before tensor b belong to no tensor"));
  EXPECT_THAT(open_tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,12])"),
              HasSubstr(": the tensors end at byte "));
}

}  // namespace
}  // namespace sticky::test
