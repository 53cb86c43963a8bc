export default {
  testEnvironment: "node", // not jsdom: its fetch and streams are others
  testMatch: ["**/*.jest.test.mjs"],
  testTimeout: 30_000, // 5 s by default, also for hooks
  transform: {}, // the package is an ES module
};
