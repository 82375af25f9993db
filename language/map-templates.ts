// Maps every template of a compiled operation in one place, so that code that counts, rewrites or collects templates
// does not need to know where they stand.

import type {
  CompiledAction,
  CompiledOperation,
  CompiledResponse,
  ForwardAction,
} from './compiled.ts'
import type { Template } from './expression/template.ts'

type Change = (template: Template) => Template

/**
 * The operation with `change` applied to each of its templates; the same parts where nothing changed.
 * @example mapTemplates(operation, (template) => { seen.push(template); return template })
 */
export const mapTemplates = (operation: CompiledOperation, change: Change): CompiledOperation => {
  const { limits } = operation
  const timeout = limits.timeout && change(limits.timeout)
  return {
    ...operation,
    headers: change(operation.headers),
    limits: {
      ...(timeout === undefined ? {} : { timeout }),
      connectTimeout: change(limits.connectTimeout),
      retries: change(limits.retries),
      retryTimeout: change(limits.retryTimeout),
    },
    action: mapAction(operation.action, change),
    onResult: mapResponse(operation.onResult, change),
    onError: mapResponse(operation.onError, change),
  }
}

export const mapAction = (action: CompiledAction, change: Change): CompiledAction => {
  switch (action.type) {
    case 'empty':
      return action
    case 'static':
      return { ...action, ...given(action, ['headers'], change), body: change(action.body) }
    case 'forward':
      return mapForward(action, change)
    default:
      return {
        ...action,
        ...given(action, ['uri'], change),
        options: change(action.options),
        args: change(action.args),
        kwargs: change(action.kwargs),
      }
  }
}

const mapForward = (action: ForwardAction, change: Change): ForwardAction => {
  const names = ['path', 'queryString', 'headers', 'body'] as const
  if (action.hosts === undefined)
    return { ...action, host: change(action.host), ...given(action, names, change) }
  const hosts = action.hosts.map(({ host, weight }) => ({
    host: change(host),
    weight: change(weight),
  }))
  return { ...action, hosts, ...given(action, names, change) }
}

export const mapResponse = (response: CompiledResponse, change: Change): CompiledResponse => {
  if (!response.declared) return response
  return { ...response, ...given(response, ['headers', 'body', 'statusCode', 'uri'], change) }
}

/** The members of `names` that are present, changed. */
const given = <K extends string>(
  holder: Readonly<Partial<Record<K, Template>>>,
  names: readonly K[],
  change: Change,
): Partial<Record<K, Template>> => {
  const changed: Partial<Record<K, Template>> = {}
  for (const name of names) {
    const template = holder[name]
    if (template !== undefined) changed[name] = change(template)
  }
  return changed
}
