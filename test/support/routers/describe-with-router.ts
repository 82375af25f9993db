// Holds a router to rows of observations; they are skipped with the reason where this machine does not have the router, and
// by `make test` on a real one.

import * as jest from '@jest/globals'
import { onlyInTestAll } from '../availability.ts'
import { describeWhenAvailable } from '../when-available.ts'
import { type RouterSuite, START_MS } from './router-under-test.ts'

export interface ObservedRow {
  readonly title: string
  readonly expected: unknown
  readonly observe: () => unknown
}

export interface RowsOfRouter {
  readonly rows: readonly ObservedRow[]
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

/**
 * What each row observes must equal what it expects; the router is up for all of them.
 *
 * @param rowsOf asked only where there is a router
 * @param timeoutMs for one row: a router may take three seconds to come back
 */
export const describeWithRouter = (
  suite: Pick<RouterSuite, 'name' | 'availability'>,
  rowsOf: () => RowsOfRouter,
  timeoutMs = 60_000,
): void => {
  const availability =
    suite.name === 'embedded' ? suite.availability : onlyInTestAll(suite.name, suite.availability)
  describeWhenAvailable(suite.name, availability, () => {
    const { rows, start, stop } = rowsOf()
    jest.beforeAll(start, START_MS)
    jest.afterAll(stop, START_MS)
    jest.it.each(rows)(
      '$title',
      async ({ observe, expected }) => {
        jest.expect(await observe()).toEqual(expected)
      },
      timeoutMs,
    )
  })
}
