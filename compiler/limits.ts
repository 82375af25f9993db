// Defines what compiling one document may take, as numbers and as the settings that give them; gateway and operator
// have the same.

import { MAX_ROUTES } from '../language/routes/route-limit.ts'
import type { ReasonedSettings } from '../telemetry/settings-table.ts'
import { readVersion } from '../telemetry/version.ts'

export interface CompileLimits {
  /** That one document stands for (behaviour §2). */
  readonly maxRoutes: number
  /** Heap of the thread that compiles large documents. */
  readonly memoryMb: number
  /** The time of that thread for one document. */
  readonly timeMs: number
}

/** The chart adds as much to what a container needs at least. */
const MEMORY_MB = 128

export const COMPILE_SETTINGS = {
  'max-routes': {
    type: 'integer',
    default: MAX_ROUTES,
    min: 1,
    max: 1_000_000,
    help: 'routes that one document may define: its paths times the forms of their optional segments and of the host; set it alike for gateways and operator',
    reason: 'documents with more routes, or machines that must not spend as much on one',
  },
  'compile-seconds': {
    type: 'duration',
    default: 10,
    min: 1,
    max: 300,
    help: 'time that compiling one large document may take; a document that takes longer is rejected as too_expensive',
    reason: 'large documents on slow machines',
  },
} as const satisfies ReasonedSettings

export const limitsFrom = (settings: {
  readonly maxRoutes: number
  readonly compileSeconds: number
}): CompileLimits => ({
  maxRoutes: settings.maxRoutes,
  memoryMb: MEMORY_MB,
  timeMs: settings.compileSeconds * 1000,
})

/**
 * A document that was too expensive may not be so with other limits or another release.
 * @example limitsVersion(limits) // '20000 routes, 128 MB, 10 s, release 1.4.0'
 */
export const limitsVersion = ({ maxRoutes, memoryMb, timeMs }: CompileLimits): string =>
  `${maxRoutes} routes, ${memoryMb} MB, ${timeMs / 1000} s, release ${readVersion()}`
