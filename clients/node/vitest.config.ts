import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    // The machine that decides has two cores, and each test starts processes.
    maxWorkers: 2,
  },
});
