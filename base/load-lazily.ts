// Loads a package in CommonJS at its first use, so that a start need not wait for it.

import { createRequire } from 'node:module'

/**
 * Synchronous, and loads once, as `require`. The caller says the type.
 * @example const { Ajv2020 } = loadLazily('ajv/dist/2020.js') as typeof Ajv
 */
export const loadLazily: (name: string) => unknown = createRequire(import.meta.url)
