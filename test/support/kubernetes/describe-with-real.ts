// Runs tests that need something real that this machine may lack, or reports that it is missing; tests are never left
// out silently, and with REQUIRE_REAL=1 they fail.

import * as jest from '@jest/globals'
import type { Availability } from '../availability.ts'
import { describeWhenAvailable } from '../when-available.ts'

export interface Real<T extends AsyncDisposable> {
  /** Told to people: `Kubernetes`. */
  readonly what: string
  readonly availability: () => Availability
  /** Before any test runs, as it takes longer than a test may. */
  readonly build: () => Promise<unknown>
  readonly start: () => Promise<T>
  /** Of its start, and of its end. */
  readonly patienceMs: number
}

/** One for all tests of the body: up in `beforeAll`, gone in `afterAll`. */
export const describeWithReal = async <T extends AsyncDisposable>(
  name: string,
  real: Real<T>,
  body: (started: () => T) => void,
): Promise<void> => {
  const availability = await obtain(real)
  describeWhenAvailable(name, availability, () => {
    withReal(real, body)
  })
}

const withReal = <T extends AsyncDisposable>(
  { what, start, patienceMs }: Real<T>,
  body: (started: () => T) => void,
): void => {
  let started: T | undefined
  jest.beforeAll(async () => {
    started = await start()
  }, patienceMs)
  body(() => {
    if (started === undefined) throw new Error(`${what} is up in tests and hooks only`)
    return started
  })
  // Hooks run in the order they were given in: those of the body still have it.
  jest.afterAll(async () => {
    await started?.[Symbol.asyncDispose]()
  }, patienceMs)
}

const obtain = async <T extends AsyncDisposable>({
  availability,
  build,
}: Real<T>): Promise<Availability> => {
  const found = availability()
  if (!found.available) return found
  try {
    await build()
    return { available: true }
  } catch (error) {
    return { available: false, why: error instanceof Error ? error.message : String(error) }
  }
}
