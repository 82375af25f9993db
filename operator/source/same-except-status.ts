// Compares two versions of a resource, ignoring status: what we write there ourselves comes back as another version of
// each resource.

import type { Resource } from '../resource/resource.ts'
import { isSameValue } from '../resource/same-value.ts'

/**
 * Costs next to nothing where both have the same `checked`.
 * @example hasSameContent(resource, { ...resource, conditions: [] }) // true
 */
export const hasSameContent = (left: Resource, right: Resource): boolean =>
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

/** The same content, and the same statuses. */
export const isSameButVersion = (left: Resource, right: Resource): boolean =>
  isSameValue(withoutVersion(left), withoutVersion(right))

/** The version of a Secret is part of its content, as it stands for the values in digests. */
const withoutVersion = (resource: Resource): Resource =>
  resource.kind === 'Secret'
    ? resource
    : { ...resource, metadata: { ...resource.metadata, resourceVersion: '' } }
