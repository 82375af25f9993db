// A webhook configuration as it stands in the API server and as this operator would make it in; where it leads
// elsewhere or looks at other namespaces, in words for a person, out. Pure.

import { mapAt, mapsAt, memberAt, numberAt, textAt } from '../../language/expression/members.ts'
import { canonicalJson } from '../../language/wire/digest.ts'
import { isMap, type ValueMap } from '../../language/expression/value.ts'
import type { Webhook, WebhookConfiguration } from '../kubernetes/objects.ts'
import { withoutReviewKey } from './review-key.ts'

/** What else somebody has changed is theirs to know. Undefined: as it should be. */
export const driftOf = (
  object: WebhookConfiguration,
  made: WebhookConfiguration,
): string | undefined => {
  const found = webhooksOf(object)
  const words = [...webhooksOf(made)].flatMap(([name, wanted]) => {
    const webhook = found.get(name)
    return webhook === undefined ? [`it has no ${name}`] : differences(name, webhook, wanted)
  })
  return words.length === 0 ? undefined : words.join(', ')
}

/** Where the first of its webhooks is reached. */
export const targetOf = (object: WebhookConfiguration): string => {
  const [first] = webhooksOf(object).values()
  return first === undefined ? 'nobody' : clientOf(first)
}

const differences = (name: string, webhook: Webhook, wanted: Webhook): readonly string[] => {
  const [client, wantedClient] = [clientOf(webhook), clientOf(wanted)]
  return [
    ...(client === wantedClient ? [] : [`${name} asks ${client} instead of ${wantedClient}`]),
    ...(namespacesOf(webhook) === namespacesOf(wanted)
      ? []
      : [`${name} has another namespaceSelector`]),
  ]
}

const webhooksOf = (object: WebhookConfiguration): ReadonlyMap<string, Webhook> => {
  const webhooks = mapsAt(object, 'webhooks')
  return new Map(webhooks.map((webhook) => [textAt(webhook, 'name'), webhook]))
}

/** @example 'system/hook:443/validate'; the key of reviews is not told, and is no difference */
const clientOf = (webhook: Webhook): string => {
  const client = mapAt(webhook, 'clientConfig')
  const service = memberAt(client, 'service')
  if (!isMap(service)) return withoutReviewKey(textAt(client, 'url'))
  const port = numberAt(service, 'port') ?? 443
  const path = withoutReviewKey(textAt(service, 'path'))
  return `${textAt(service, 'namespace')}/${textAt(service, 'name')}:${port}${path}`
}

/** As an operator would make it, wherever it asks the same as it did: with the key of reviews that counts now. */
export const withReviewKey = (webhook: Webhook, made: WebhookConfiguration): ValueMap => {
  const wanted = webhooksOf(made).get(textAt(webhook, 'name'))
  if (wanted === undefined || clientOf(wanted) !== clientOf(webhook)) return webhook
  return { ...webhook, clientConfig: mapAt(wanted, 'clientConfig') }
}

/** The API server writes `{}` where there is none. */
const namespacesOf = (webhook: Webhook): string =>
  canonicalJson(mapAt(webhook, 'namespaceSelector'))
