// A template in, the templates directly in it out: what every walk over templates needs.

import type { PipeArgument, Template } from './template.ts'

type Composite = Exclude<Template, { kind: 'constant' | 'read' }>

export const childrenOf = (template: Composite): readonly PipeArgument[] => {
  switch (template.kind) {
    case 'map':
      return template.entries.map((entry) => entry[1])
    case 'list':
      return template.items
    case 'text':
      return template.parts.filter((part) => typeof part !== 'string')
    case 'pipe':
      return [template.input, ...template.calls.flatMap((call) => call.args)]
  }
}
