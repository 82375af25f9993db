// Remembers the last good version of each ApiSpecification: as this operator has seen it or, after a restart, according to
// the status of the resource and the data planes. It is forgotten when the resource is deleted or loses the id, or its namespace a right that it needs.

import { isSameList } from '../../../base/same-entries.ts'
import { isSameText } from '../../../language/wire/digest.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import type { ResourceCache } from '../../resource/resource-source.ts'
import type { ApiSpecificationResource, ProgrammedVersion } from '../../resource/resource.ts'
import type { DocumentCompiler } from './compile-document.ts'
import {
  remakeDocument,
  restrictDocument,
  type Restrictions,
  withholdAsRecorded,
} from './make-document.ts'
import { wasSent } from '../may-be-held.ts'
import { ComputedCache } from '../computed-cache.ts'
import type { MissingVersion } from './missing-version.ts'
import type { Claimant } from '../claims/owners.ts'
import { readVariables, variableInputs } from './read-variables.ts'

export interface LastGood {
  readonly document: DesiredDocument
  readonly generation: number
  /** The uid of the resource. */
  readonly uid: string
}

/** A version that was taken out of service, as its namespace has lost a right. */
export interface RevokedVersion {
  readonly id: string
  /** False: the status alone says that it may have served, and the resource may not have the id. */
  readonly isCertain: boolean
}

interface Claim extends Claimant<ApiSpecificationResource> {
  /** Its newest version is still being compiled. */
  readonly isPending: boolean
}

/** How the documents were settled. */
export interface SettledIds {
  readonly ownerOf: (id: string) => Claimant<ApiSpecificationResource> | undefined
  readonly documents: ReadonlyMap<string, DesiredDocument>
}

export class LastGoodVersions {
  readonly #compiler: DocumentCompiler
  /** Versions by key of the resource. */
  readonly #versions = new Map<string, LastGood>()
  /** Id → key of the resource whose version it was after the last `settle`. */
  readonly #holders = new Map<string, string>()
  /** Keys of resources whose version has changed since the last `takeTouched`. */
  readonly #touched = new Set<string>()
  /** Versions by key of the resource. */
  readonly #revoked = new Map<string, RevokedVersion>()
  readonly #missing = new ComputedCache<MissingVersion>()
  #resources: ReadonlyMap<string, ApiSpecificationResource> = new Map()
  #list: readonly MissingVersion[] = []

  constructor(compiler: DocumentCompiler) {
    this.#compiler = compiler
  }

  begin(resources: ReadonlyMap<string, ApiSpecificationResource>): void {
    this.#resources = resources
    this.#missing.retain(resources)
    for (const key of this.#revoked.keys()) if (!resources.has(key)) this.#revoked.delete(key)
  }

  /** Versions by key of the resource, until it has another one. */
  get revoked(): ReadonlyMap<string, RevokedVersion> {
    return this.#revoked
  }

  /** Takes the version of the resource out of service for good, as its namespace may not have it any more. */
  revoke(key: string): void {
    const known = this.#versions.get(key)
    if (known === undefined) return
    this.#set(key, undefined)
    this.#revoked.set(key, { id: known.document.id, isCertain: true })
  }

  get(key: string): LastGood | undefined {
    return this.#versions.get(key)
  }

  /** Restricts the version that serves to what its namespace may do now, also while a newer version is not valid. */
  restrict(key: string, restrictionsOf: (document: DesiredDocument) => Restrictions): void {
    const known = this.#versions.get(key)
    if (known === undefined) return
    const document = restrictDocument(known.document, restrictionsOf(known.document))
    if (document !== known.document) this.#set(key, { ...known, document })
  }

  /**
   * After a restart, the current version of the resource is a last good version if data planes have loaded it, even if
   * its realm is missing now or it has lost a claim. A version that its namespace may not have any more is revoked.
   * @param version the current one, if the document itself is valid
   */
  follow(
    key: string,
    resource: ApiSpecificationResource,
    version: DesiredDocument | undefined,
    isPermitted: (document: DesiredDocument) => boolean,
  ): void {
    const { uid } = resource.metadata
    if (this.#versions.has(key) && this.#versions.get(key)?.uid !== uid) this.#set(key, undefined)
    const known = this.#versions.get(key)
    if (known !== undefined) {
      if (!isPermitted(known.document)) this.revoke(key)
    } else if (version !== undefined && !this.#revoked.has(key)) {
      if (isPermitted(version)) this.#recall(key, resource, version)
      else if (mayServe(resource, version))
        this.#revoked.set(key, { id: version.id, isCertain: false })
    }
  }

  /** Has no data plane keep a version whose text is not known, where its namespace may have none at all. */
  revokeUnknown(key: string, resource: ApiSpecificationResource, id: string | undefined): void {
    if (id === undefined || this.#versions.has(key) || this.#revoked.has(key)) return
    const mayBeServed = resource.programmed !== undefined || wasSent(resource)
    if (mayBeServed) this.#revoked.set(key, { id, isCertain: false })
  }

  #recall(
    key: string,
    { metadata: { uid }, programmed }: ApiSpecificationResource,
    version: DesiredDocument,
  ): void {
    if (programmed === undefined || !isSameText(version.digest, programmed.digest)) return
    const document = withholdAsRecorded(version, programmed.digest)
    this.#set(key, { document, generation: programmed.generation, uid })
  }

  /**
   * Remembers what is served, and forgets versions whose resource does not own the id any more.
   * @param ids whose owner, or served version, may have changed since the last call
   */
  settle(ids: Iterable<string>, { ownerOf, documents }: SettledIds): void {
    const open = new Set(ids)
    for (const key of this.#touched) {
      const id = this.#versions.get(key)?.document.id
      if (id === undefined) continue
      open.add(id)
      if (ownerOf(id)?.key !== key) this.#set(key, undefined)
    }
    for (const id of open) {
      const owner = ownerOf(id)
      const holder = this.#holders.get(id)
      const isLeft = holder !== undefined && owner?.key !== holder
      if (isLeft && this.#versions.get(holder)?.document.id === id) this.#set(holder, undefined)
      this.#remember(id, owner, documents.get(id))
    }
  }

  /** Keys of resources whose version has changed since the last call. */
  takeTouched(): readonly string[] {
    const keys = [...this.#touched]
    this.#touched.clear()
    return keys
  }

  #remember(
    id: string,
    owner: Claimant<ApiSpecificationResource> | undefined,
    document: DesiredDocument | undefined,
  ): void {
    if (owner === undefined) {
      this.#holders.delete(id)
      return
    }
    if (document !== undefined && this.#versions.get(owner.key)?.document !== document) {
      const { generation, uid } = owner.resource.metadata
      this.#set(owner.key, { document, generation, uid })
    }
    if (this.#versions.get(owner.key)?.document.id === id) this.#holders.set(id, owner.key)
    else this.#holders.delete(id)
  }

  #set(key: string, version: LastGood | undefined): void {
    this.#touched.add(key)
    if (version === undefined) this.#versions.delete(key)
    else {
      this.#versions.set(key, version)
      this.#revoked.delete(key)
    }
  }

  /**
   * Versions that should go on serving, but whose text is not known.
   * @param claims those of ids without a version to send, and those without an id
   */
  missing(
    claims: Iterable<Claim>,
    ownerOf: SettledIds['ownerOf'],
    cache: ResourceCache,
  ): readonly MissingVersion[] {
    const list: MissingVersion[] = []
    for (const { key, id, resource, isPending } of claims) {
      // Its text may be that very version.
      if (isPending || this.#revoked.has(key)) continue
      const isKept = id === '' || ownerOf(id)?.key === key
      if (isKept && isRecoverable(resource)) list.push(this.#describe({ key, id, resource }, cache))
    }
    if (!isSameList(list, this.#list)) this.#list = list
    return this.#list
  }

  async recover(
    { key, digest }: MissingVersion,
    document: ValueMap,
    cache: ResourceCache,
  ): Promise<boolean> {
    const resource = this.#resources.get(key)
    if (resource === undefined || !this.#isMissing(key, digest, resource)) return false
    const secrets = readVariables(resource, cache)
    const remade = await remakeDocument(resource, digest, document, {
      key,
      secrets: 'found' in secrets ? secrets.found : undefined,
      compiler: this.#compiler,
    })
    // The resource may have been changed or deleted meanwhile.
    const isSame = this.#resources.get(key)?.metadata.uid === resource.metadata.uid
    if (remade === undefined || !isSame || !this.#isMissing(key, digest, resource)) return false
    const { generation } = resource.programmed
    this.#set(key, { document: remade, generation, uid: resource.metadata.uid })
    return true
  }

  #isMissing(
    key: string,
    digest: string,
    resource: ApiSpecificationResource,
  ): resource is ApiSpecificationResource & { readonly programmed: ProgrammedVersion } {
    return (
      resource.programmed?.digest === digest &&
      !this.#versions.has(key) &&
      !this.#revoked.has(key) &&
      isRecoverable(resource)
    )
  }

  /** Another object once another try is worthwhile, as the Secrets that it may have been sent with have changed. */
  #describe(
    { key, id, resource }: Pick<Claim, 'key' | 'id' | 'resource'>,
    cache: ResourceCache,
  ): MissingVersion {
    const digest = resource.programmed?.digest ?? ''
    const inputs = [id, digest, resource.checked, ...variableInputs(resource, cache)]
    const { namespace } = resource.metadata
    return this.#missing.get(key, inputs, () => ({
      key,
      digest,
      namespace,
      ...(id !== '' && { id }),
    }))
  }
}

/** Where the spec can't be read, it is not known which data planes it selects. */
const isRecoverable = ({ checked, programmed }: ApiSpecificationResource): boolean =>
  'spec' in checked && programmed !== undefined

/** Whether data planes may have loaded this very version, by its status. */
const mayServe = (resource: ApiSpecificationResource, { digest }: DesiredDocument): boolean =>
  resource.programmed === undefined
    ? wasSent(resource)
    : isSameText(digest, resource.programmed.digest)
