// Bounds the headers that a document sets, of a response or of a request to an upstream: it may name one value of a request
// 100,000 times.

import { SizeBudget } from '../language/expression/size-budget.ts'

const MAX_CHARACTERS = 2 ** 20
/** What each header is charged, whatever it contains. */
const HEADER_CHARACTERS = 32

export const HEADERS_TOO_LARGE = `together they have more than ${MAX_CHARACTERS} characters`

/** Creates the budget of all headers of one message. */
export const createHeaderBudget = (): SizeBudget => new SizeBudget(MAX_CHARACTERS)

/** @returns false: it is one too many, as is any that follows */
export const takeHeader = (budget: SizeBudget, value: string): boolean =>
  budget.take(HEADER_CHARACTERS + value.length)
