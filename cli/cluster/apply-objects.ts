// Sends objects by server-side apply, a few at once, and says of each what has become of it. A dry run does the same but
// for storing anything: rights, admission and conflicts are answered by the cluster itself.

import { inParallel } from '../../base/in-parallel.ts'
import { mapAt, numberAt } from '../../language/expression/members.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { ApiError, isApiError, type KubernetesApi } from '../../operator/kubernetes/client/api.ts'
import { isSameValue } from '../../operator/resource/same-value.ts'
import { type AppliedObject, contentOf } from './applied-object.ts'

export type ApplyResult =
  | {
      readonly result: 'created' | 'configured' | 'unchanged'
      /** 0: the kind counts none, or the object is not there yet. */
      readonly generation: number
      readonly warnings: readonly string[]
      /** Its namespace is yet to be created, so that the cluster could not be asked. */
      readonly isUnchecked: boolean
    }
  | { readonly result: 'failed'; readonly error: ApiError }
  /** Another one had failed before. */
  | { readonly result: 'not tried' }

export type Applied = AppliedObject & { readonly applyResult: ApplyResult }

interface ApplyRun {
  readonly api: Pick<KubernetesApi, 'get' | 'apply'>
  readonly isForced: boolean
  readonly isDryRun: boolean
}

/** As kubectl has its own: whose fields are whose. */
const FIELD_MANAGER = 'svc'

const AT_ONCE = 8

/**
 * One result for each object, in the same order. A dry run asks for all of them; otherwise none is begun after one has
 * failed, and no kind before the kinds that it depends on are there.
 */
export const applyObjects = async (
  objects: readonly AppliedObject[],
  run: ApplyRun,
): Promise<readonly Applied[]> => {
  const results = new Map<AppliedObject, ApplyResult>()
  const created = new Set(
    objects.filter(({ kind }) => kind === 'Namespace').map(({ name }) => name.name),
  )
  for (const group of Map.groupBy(objects, ({ kind }) => kind).values()) {
    await inParallel(group, AT_ONCE, async (object) => {
      if (!run.isDryRun && hasFailure(results)) return
      results.set(object, await applyObject(object, created, run))
    })
  }
  return objects.map((object) => {
    const applyResult: ApplyResult = results.get(object) ?? { result: 'not tried' }
    return { ...object, applyResult }
  })
}

const hasFailure = (results: ReadonlyMap<unknown, ApplyResult>): boolean =>
  [...results.values()].some(({ result }) => result === 'failed')

const applyObject = async (
  applied: AppliedObject,
  created: ReadonlySet<string>,
  { api, isForced, isDryRun }: ApplyRun,
): Promise<ApplyResult> => {
  const { type, name, object } = applied
  const warnings: string[] = []
  try {
    const before = await getOrNone(api, applied)
    const after = await api.apply(type, name, object, {
      fieldManager: FIELD_MANAGER,
      force: isForced,
      dryRun: isDryRun,
      fieldValidation: 'Strict',
      returns: 'object',
      onWarning: (text) => warnings.push(text),
    })
    return {
      result: compare(before, after),
      generation: numberAt(mapAt(after, 'metadata'), 'generation') ?? 0,
      warnings,
      isUnchecked: false,
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const isToCome = isDryRun && isMissingNamespace(error) && created.has(name.namespace)
    return isToCome
      ? { result: 'created', generation: 0, warnings, isUnchecked: true }
      : { result: 'failed', error }
  }
}

/** A client without the right to read may still have the right to write. */
const getOrNone = async (
  api: ApplyRun['api'],
  { type, name }: AppliedObject,
): Promise<ValueMap | 'none' | 'unknown'> => {
  try {
    return await api.get(type, name)
  } catch (error) {
    if (isApiError(error, 'not_found')) return 'none'
    if (isApiError(error, 'forbidden')) return 'unknown'
    throw error
  }
}

const compare = (
  before: ValueMap | 'none' | 'unknown',
  after: ValueMap,
): 'created' | 'configured' | 'unchanged' => {
  if (before === 'none') return 'created'
  return before !== 'unknown' && isSameValue(contentOf(before), contentOf(after))
    ? 'unchanged'
    : 'configured'
}

/** The API server names the namespace and not the object. */
export const isMissingNamespace = (error: ApiError): boolean =>
  error.code === 'not_found' && /\bnamespaces "/.test(error.message)
