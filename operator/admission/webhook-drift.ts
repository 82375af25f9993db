// A webhook configuration as it stands in the API server and as this operator would make it in; where it leads
// elsewhere or looks at other namespaces, in words for a person, out. Pure.

import { canonicalJson } from '../../language/wire/digest.ts'
import { isList, isMap, type ValueMap } from '../../language/expression/value.ts'
import { map, own } from './review.ts'
import { withoutReviewKey } from './review-key.ts'

/** What else somebody has changed is theirs to know. Undefined: as it should be. */
export const driftOf = (object: ValueMap, made: ValueMap): string | undefined => {
  const found = webhooksOf(object)
  const words = [...webhooksOf(made)].flatMap(([name, wanted]) => {
    const webhook = found.get(name)
    return webhook === undefined ? [`it has no ${name}`] : differences(name, webhook, wanted)
  })
  return words.length === 0 ? undefined : words.join(', ')
}

/** Where the first of its webhooks is reached. */
export const targetOf = (object: ValueMap): string => {
  const [first] = webhooksOf(object).values()
  return first === undefined ? 'nobody' : clientOf(first)
}

const differences = (name: string, webhook: ValueMap, wanted: ValueMap): readonly string[] => {
  const [client, wantedClient] = [clientOf(webhook), clientOf(wanted)]
  return [
    ...(client === wantedClient ? [] : [`${name} asks ${client} instead of ${wantedClient}`]),
    ...(namespacesOf(webhook) === namespacesOf(wanted)
      ? []
      : [`${name} has another namespaceSelector`]),
  ]
}

const webhooksOf = (object: ValueMap): ReadonlyMap<string, ValueMap> => {
  const webhooks = own(object, 'webhooks')
  const maps = isList(webhooks) ? webhooks.filter(isMap) : []
  return new Map(maps.map((webhook) => [textOf(webhook, 'name'), webhook]))
}

/** @example 'system/hook:443/validate'; the key of reviews is not told, and is no difference */
const clientOf = (webhook: ValueMap): string => {
  const client = map(webhook, 'clientConfig') ?? {}
  const service = map(client, 'service')
  if (service === undefined) return withoutReviewKey(textOf(client, 'url'))
  const port = textOf(service, 'port') || '443'
  const path = withoutReviewKey(textOf(service, 'path'))
  return `${textOf(service, 'namespace')}/${textOf(service, 'name')}:${port}${path}`
}

/** As an operator would make it, wherever it asks the same as it did: with the key of reviews that counts now. */
export const withReviewKey = (webhook: ValueMap, made: ValueMap): ValueMap => {
  const wanted = webhooksOf(made).get(textOf(webhook, 'name'))
  if (wanted === undefined || clientOf(wanted) !== clientOf(webhook)) return webhook
  return { ...webhook, clientConfig: map(wanted, 'clientConfig') ?? {} }
}

const textOf = (of: ValueMap, key: string): string => {
  const value = own(of, key)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** The API server writes `{}` where there is none. */
const namespacesOf = (webhook: ValueMap): string =>
  canonicalJson(map(webhook, 'namespaceSelector') ?? {})
