// What is said where no device is, or not the one that was asked for.

#include "strata/device/internal/availability.hpp"

#include <gtest/gtest.h>

#include "strata/device/array.hpp"
#include "strata/device/device.hpp"
#include "strata/device/error.hpp"
#include "strata/device/event.hpp"

namespace strata::test {
namespace {

using gpu::detail::no_device_text;

// The message of the Unavailable that `call` throws.
template <class Call>
std::string unavailable_text(const Call& call) {
  try {
    call();
  } catch (const Unavailable& unavailable) {
    return unavailable.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(Availability, EitherThereAreDevicesOrThereIsAReason) {
  EXPECT_EQ(gpu::device_count() == 0, !gpu::why_no_device().empty());
}

TEST(Availability, WithoutADeviceEverythingThatNeedsOneIsUnavailable) {
  if (gpu::device_count() > 0) GTEST_SKIP() << "there is a device";
  const std::string expected = "no GPU can be used: " + gpu::why_no_device();
  EXPECT_EQ(unavailable_text([] { gpu::device_properties(0); }), expected);
  EXPECT_EQ(unavailable_text([] { gpu::use_device(0); }), expected);
  EXPECT_EQ(unavailable_text([] { gpu::Stream stream; }), expected);
  EXPECT_EQ(unavailable_text([] { gpu::Event event; }), expected);
  EXPECT_EQ(unavailable_text([] { gpu::DeviceArray<double> array(3); }), expected);
  EXPECT_EQ(unavailable_text([] { gpu::PinnedArray<double> array(3); }), expected);
  EXPECT_EQ(unavailable_text([] { gpu::synchronize_device(); }), expected);
}

TEST(Availability, AsksForADriverWhereThereIsNone) {
  const std::string text = no_device_text(STRATA_RT(ErrorInsufficientDriver), 0, 13000);
  EXPECT_NE(text.find("there is no driver"), std::string::npos) << text;
}

TEST(Availability, SaysWhichDriverIsTooOld) {
  const int old_driver = gpu::api() == gpu::Api::hip ? 40100000 : 12080;
  const int runtime = gpu::api() == gpu::Api::hip ? 50221153 : 13000;
  const std::string text = no_device_text(STRATA_RT(ErrorInsufficientDriver), old_driver, runtime);
  EXPECT_NE(text.find("too old"), std::string::npos) << text;
  for (const int version : {old_driver, runtime}) {
    EXPECT_NE(text.find(gpu::detail::version_text(version)), std::string::npos) << text;
  }
}

TEST(Availability, ADriverWithoutADeviceIsDistinguishedFromOtherErrors) {
  const auto text_of = [](gpu::rt::Status status) { return no_device_text(status, 13000, 13000); };
  EXPECT_NE(text_of(STRATA_RT(ErrorNoDevice)).find("finds no device"), std::string::npos);
  EXPECT_NE(text_of(STRATA_RT(Success)).find("finds no device"), std::string::npos);
  const std::string other = text_of(STRATA_RT(ErrorInvalidValue));
  EXPECT_NE(other.find(STRATA_RT_TEXT(ErrorInvalidValue)), std::string::npos) << other;
}

TEST(Availability, ANumberBeyondTheDevicesSaysHowManyThereAre) {
  using gpu::detail::require_device;
  EXPECT_EQ(unavailable_text([] { require_device(3, 1, ""); }),
            "device 3 was asked for; there is 1, numbered from 0");
  EXPECT_EQ(unavailable_text([] { require_device(-1, 2, ""); }),
            "device -1 was asked for; there are 2, numbered from 0");
  EXPECT_EQ(unavailable_text([] { require_device(0, 0, "no driver"); }),
            "no GPU can be used: no driver");
  EXPECT_NO_THROW(require_device(1, 2, ""));
}

TEST(DeviceErrors, NameTheCall) {
  try {
    gpu::rt::throw_error(STRATA_RT(ErrorInvalidValue), "a call");
  } catch (const gpu::DeviceError& error) {
    EXPECT_EQ(error.call(), "a call");
    EXPECT_EQ(std::string(error.what()).find("a call: "), 0U) << error.what();
  }
}

TEST(DeviceErrors, OutOfMemorySaysHowMuchWasAskedForAndHowMuchIsFree) {
  const gpu::DeviceOutOfMemory error("a call", 1000, 200);
  EXPECT_EQ(error.bytes_asked(), 1000);
  EXPECT_EQ(error.bytes_free(), 200);
  EXPECT_STREQ(error.what(),
               "a call: out of memory on the device: 1000 bytes were asked for, 200 are free");
}

}  // namespace
}  // namespace strata::test
