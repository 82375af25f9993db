// Forecasts the conditions of a resource that is about to be stored, as far as they can be known, by the rules of
// reconciling. Says nothing where nothing is certain, and rejects nothing.

import type { ValueMap } from '../../language/expression/value.ts'
import type { Clock } from '../../base/clock.ts'
import { type DataPlane, isSelected, mayHoldRealm } from '../data-plane.ts'
import { readOfClass } from '../source/read-object.ts'
import { realmForbidden } from '../reconcile/conditions.ts'
import type { Foresight } from '../reconcile/foresight.ts'
import { NO_DATA_PLANES } from '../reconcile/status/programmed.ts'
import { unknownServiceWarning } from '../reconcile/status/unknown-services.ts'
import type { ResourceResult } from '../reconcile/resource-result.ts'
import type { ApiSpecificationResource, RealmResource, Resource } from '../resource/resource.ts'
import type { Located } from './validate-resource.ts'
import type { FindUnserved } from './absent-services.ts'
import type { LookUp } from './look-up.ts'
import type { SharedCompilation } from './shared-compilation.ts'

export interface ForecastOptions {
  readonly className: string
  /** Undefined: not everything has been read yet. */
  readonly foresight: () => Foresight | undefined
  /** Undefined: it is not known yet which there are. */
  readonly dataPlanes: () => readonly DataPlane[] | undefined
  readonly lookUp: LookUp
  readonly findUnserved: FindUnserved
  readonly clock: Clock
}

export interface Forecast {
  /** The messages of the conditions that keep it out of service. */
  readonly problems: readonly string[]
  /** Warnings of the language with the real realm and variables; undefined: these are not known. */
  readonly warnings?: readonly Located[]
  /** Constant hosts of its forwards. */
  readonly forwardHosts?: readonly string[]
}

/** Rejects as the compilation does. Undefined: nothing is known. */
export type MakeForecast = (
  object: ValueMap,
  compilation: SharedCompilation,
) => Promise<Forecast | undefined>

/**
 * An object that was applied just before, such as the Realm of a document, may not have reached us yet: a problem gets
 * this time to disappear, for a limited number of requests at a time.
 */
const AGREE_MS = 200
const STEP_MS = 50
const MAX_SETTLING = 16

export const createForecast = (options: ForecastOptions): MakeForecast => {
  const settling = { count: 0 }
  return async (object, compilation) => {
    const resource = readReviewed(object, options)
    if (resource === undefined) return undefined
    let basis = options.foresight()
    let forecast = await look(resource, compilation, basis, options)
    if (!hasFailure(forecast) || settling.count >= MAX_SETTLING)
      return withUnserved(forecast, options)
    settling.count += 1
    try {
      for (let ms = 0; ms < AGREE_MS && hasFailure(forecast); ms += STEP_MS) {
        await pause(STEP_MS, options.clock)
        const next = options.foresight()
        if (next?.reconciliation === basis?.reconciliation) continue
        basis = next
        forecast = await look(resource, compilation, basis, options)
      }
    } finally {
      settling.count -= 1
    }
    return withUnserved(forecast, options)
  }
}

const withUnserved = async (
  forecast: Forecast | undefined,
  { findUnserved }: ForecastOptions,
): Promise<Forecast | undefined> => {
  if (forecast?.warnings === undefined || forecast.forwardHosts === undefined) return forecast
  const unserved = await findUnserved(forecast.forwardHosts)
  return { ...forecast, warnings: [...unserved.map(unknownServiceWarning), ...forecast.warnings] }
}

const hasFailure = (forecast: Forecast | undefined): boolean =>
  forecast !== undefined && forecast.problems.length > 0

const pause = (ms: number, clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve)
  })

type Reviewed = ApiSpecificationResource | RealmResource

/** Undefined: of another class, or not readable, which is reported elsewhere. */
const readReviewed = (
  object: ValueMap,
  { className, clock }: ForecastOptions,
): Reviewed | undefined => {
  const resource = readQuietly(object, className)
  if (resource?.kind !== 'ApiSpecification' && resource?.kind !== 'Realm') return undefined
  if ('problems' in resource.checked) return undefined
  const { metadata } = resource
  // The API server has not given it a time yet: it is the youngest.
  return metadata.createdAt > 0
    ? resource
    : { ...resource, metadata: { ...metadata, createdAt: clock.now() } }
}

const readQuietly = (object: ValueMap, className: string): Resource | undefined => {
  try {
    return readOfClass(className)(object)
  } catch {
    return undefined
  }
}

const look = async (
  resource: Reviewed,
  compilation: SharedCompilation,
  foresight: Foresight | undefined,
  { lookUp, dataPlanes }: ForecastOptions,
): Promise<Forecast | undefined> => {
  const cache = foresight && (await lookUp(resource, foresight.cache))
  if (cache === undefined) return undefined
  const preview = (): ResourceResult | undefined => foresight?.preview(resource, cache, compilation)
  let result = preview()
  if (result?.isPending === true) {
    await compilation.run()
    result = preview()
  }
  // Meanwhile it has another realm, or other Secrets: there will be another result in a moment.
  if (result === undefined || result.isPending === true) return undefined
  const isLanguageKnown = resource.kind === 'ApiSpecification' && result.id !== undefined
  return {
    problems: problemsOf(result, resource, dataPlanes()),
    ...(isLanguageKnown && isSound(result) && { warnings: result.warnings }),
    ...(result.forwardHosts !== undefined && { forwardHosts: result.forwardHosts }),
  }
}

/** Whether it was compiled and is valid by itself. */
const isSound = ({ accepted }: ResourceResult): boolean =>
  accepted.status === 'True' || accepted.reason === 'Conflicted'

const problemsOf = (
  result: ResourceResult,
  resource: Reviewed,
  dataPlanes: readonly DataPlane[] | undefined,
): readonly string[] => {
  const { accepted, resolvedRefs } = result
  const own = [accepted, resolvedRefs].flatMap(({ status, message }) =>
    status === 'False' ? [message] : [],
  )
  if (resource.kind === 'Realm' || dataPlanes === undefined) return own
  return [...own, ...audienceProblems(result, resource, dataPlanes)]
}

const audienceProblems = (
  { realmUri = '', realmNamespace }: ResourceResult,
  { checked, metadata: { namespace } }: ApiSpecificationResource,
  dataPlanes: readonly DataPlane[],
): readonly string[] => {
  const selector = 'spec' in checked ? checked.spec.dataPlaneSelector : undefined
  const audience = { namespace, ...(selector !== undefined && { selector }) }
  const selected = dataPlanes.filter((dataPlane) => isSelected(audience, dataPlane))
  if (selected.length === 0) return [NO_DATA_PLANES]
  const isForbidden =
    realmNamespace !== undefined && !selected.every((each) => mayHoldRealm(each, realmNamespace))
  return isForbidden ? [realmForbidden(realmUri, namespace).message] : []
}
