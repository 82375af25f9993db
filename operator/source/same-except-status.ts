// Two versions of a resource in; whether the one says what the other says, out. What operators wrote into its status is
// not among its words: what we write ourselves comes back as another version of each resource.

import type { Resource } from '../resource/resource.ts'
import { isSameValue } from '../resource/same-value.ts'

/**
 * Costs next to nothing where both have the same `checked`.
 * @example saysSame(resource, { ...resource, conditions: [] }) // true
 */
export const saysSame = (left: Resource, right: Resource): boolean =>
  left === right ||
  isSameValue({ ...withoutVersion(left), ...SILENT }, { ...withoutVersion(right), ...SILENT })

const SILENT = {
  conditions: undefined,
  errors: undefined,
  warnings: undefined,
  programmed: undefined,
  summary: undefined,
  writtenBy: undefined,
  quarantined: undefined,
} as const

/** They say the same, and so do their statuses. */
export const isSameButVersion = (left: Resource, right: Resource): boolean =>
  isSameValue(withoutVersion(left), withoutVersion(right))

/** The version of a Secret is part of what is said, as it stands for the values in digests. */
const withoutVersion = (resource: Resource): Resource =>
  resource.kind === 'Secret'
    ? resource
    : { ...resource, metadata: { ...resource.metadata, resourceVersion: '' } }
