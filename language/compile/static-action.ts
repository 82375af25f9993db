// Compiles the static action (§2.5, behaviour §4): its compiled form, and how its members are read and mapped.

import type { CompiledResponses } from './compiled-response.ts'
import type { ContextRead } from '../expression/reads.ts'
import { constant, type Template } from '../expression/template.ts'
import { mapMembers } from './map-members.ts'
import { type ActionSchema, key, MAP } from '../schema/document-notation.ts'
import { UNSENT_IN_RESPONSES } from '../unsent-headers.ts'
import { headersMember } from './action-members.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { FoldedMap } from './folded.ts'
import type { TemplateUse } from './template-use.ts'

export interface StaticAction<T = Template> {
  readonly type: 'static'
  /** Absent: the operation's own headers. */
  readonly headers?: T
  readonly body: T
}

export const STATIC_KEYS: ActionSchema = {
  description: 'Answers without asking anybody.',
  snippet: { body: '${1:text}' },
  shares: 'nothing',
  own: {
    headers: key('Response headers by name.', MAP),
    body: key('Response body: any value, expressions in it are evaluated for each request.'),
  },
}

export const compileStatic = (map: FoldedMap, diagnostics: Diagnostics): StaticAction => {
  const headers = headersMember(map, UNSENT_IN_RESPONSES, diagnostics)
  return {
    type: 'static',
    ...(headers === undefined ? {} : { headers }),
    body: map.get('body') ?? constant(''),
  }
}

export const mapStatic = <A, B>(
  action: StaticAction<A>,
  change: (template: A) => B,
): StaticAction<B> => ({
  type: 'static',
  ...mapMembers(action, ['headers'], change),
  body: change(action.body),
})

export const staticUses = ({
  action,
  onResult,
  reads,
}: Pick<CompiledResponses, 'onResult'> & {
  readonly reads: readonly ContextRead[]
  readonly action: StaticAction
}): readonly TemplateUse[] => {
  // Evaluated only if the response contains it, or something reads it.
  const isRead = reads.some((read) => read === 'action' || read.startsWith('action.'))
  return [
    {
      template: action.headers,
      keys: ['headers'],
      isCertain: isRead || onResult.headers === undefined,
    },
    { template: action.body, keys: ['body'], isCertain: isRead || onResult.body === undefined },
  ]
}
