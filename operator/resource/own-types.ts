// Lists the kinds of resources that this project defines, as the Kubernetes API serves them.

import { API_VERSION, GROUP } from './resource.ts'

const OURS = {
  group: GROUP,
  version: API_VERSION.slice(GROUP.length + 1),
  isNamespaced: true,
} as const

export const OWN_TYPES = {
  apiSpecifications: { ...OURS, plural: 'apispecifications', kind: 'ApiSpecification' },
  realms: { ...OURS, plural: 'realms', kind: 'Realm' },
} as const
