// Tests that need something which not every machine has come in; they are run with it, or its absence is told of, never
// silently left out: with REQUIRE_REAL=1 it is a failure.

import * as jest from '@jest/globals'
import { type Availability, isRealRequired } from './routers/recipe.ts'

export const describeWhenAvailable = (
  name: string,
  availability: Availability,
  body: () => void,
): void => {
  jest.describe(name, () => {
    if (availability.available) body()
    else tellOfAbsence(availability.why)
  })
}

const tellOfAbsence = (why: string): void => {
  jest.it(`not tested here: ${why}`, () => {
    process.stderr.write(`not tested here: ${why}\n`)
    jest.expect({ isRequired: isRealRequired() }).toEqual({ isRequired: false })
  })
}
