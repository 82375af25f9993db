// Reconstructs roughly what the author of a template wrote, for messages only.

import type { ReadTemplate, Template } from './template.ts'

/** @example sourceOf({ kind: 'read', root: 'request', keys: ['body'] }) // '{{request.body}}' */
export const sourceOf = (template: Template): string => {
  if (template.kind === 'read') return `{{${pathOf(template)}}}`
  if (template.kind === 'pipe') return template.source
  if (template.kind !== 'text') return '…'
  return template.parts.map((part) => (typeof part === 'string' ? part : sourceOf(part))).join('')
}

const pathOf = ({ root, keys }: ReadTemplate): string => [root, ...keys].join('.')
