// Loads a package in CommonJS when it is needed first, for those that a start need not wait for.

import { createRequire } from 'node:module'

/**
 * Synchronous, and loads once, as `require`. The caller says the type.
 * @example const { Ajv2020 } = loadLate('ajv/dist/2020.js') as typeof Ajv
 */
export const loadLate: (name: string) => unknown = createRequire(import.meta.url)
