// Runs tests that need something which not every machine has; where it is missing they are skipped with the reason, or
// fail with REQUIRE_REAL=1.

import * as jest from '@jest/globals'
import { type Availability, isRealRequired } from './availability.ts'

export const describeWhenAvailable = (
  name: string,
  availability: Availability,
  body: () => void,
): void => {
  jest.describe(name, () => {
    if (availability.available) body()
    else reportAbsence(availability.why)
  })
}

const reportAbsence = (why: string): void => {
  process.stderr.write(`not tested here: ${why}\n`)
  const report = isRealRequired() ? jest.it : jest.it.skip
  report(`not tested here: ${why}`, () => {
    throw new Error(why)
  })
}
