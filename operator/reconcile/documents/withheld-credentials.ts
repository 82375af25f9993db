// Decides which credentials of its realm a document may not use, and gives a problem for each that it names.

import type { Problem } from '../../../language/problem.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import type { NewCondition } from '../../resource/condition.ts'
import type { RealmAccess } from '../realms/realm-access.ts'
import type { CompiledDocument } from './compile-document.ts'

/** Credentials that the serving version loses; it may have named them while its namespace was allowed to use them. */
export const withheldFrom = (
  { credentials = [], withheld = [] }: Pick<DesiredDocument, 'credentials' | 'withheld'>,
  access: RealmAccess,
): readonly string[] => {
  if (access.access === 'granted') return access.withheld
  // It serves on only where labels decide that are not known, and a credential is for those that are admitted for certain.
  if (access.access === 'RefNotPermitted') return credentials
  // Nothing is known about the realm now: gateways keep the credentials that they have, also after a restart.
  return withheld
}

/** One problem for each forward that names a credential which is not for its namespace. */
export const withheldProblems = (
  { credentialUses }: Pick<CompiledDocument, 'credentialUses'>,
  withheld: readonly string[],
  namespace: string,
): readonly Problem[] =>
  credentialUses
    .filter(({ name }) => withheld.includes(name))
    .map(({ path, name }) => ({
      code: 'invalid_value',
      path,
      message: `the credential '${name}' is not for documents of ${namespace}: its allowedNamespaces in the Realm do not admit them`,
    }))

/** @param problems at least one, as a person finds it */
export const credentialsRefused = ([
  first,
  ...more
]: readonly Problem[]): NewCondition<'ResolvedRefs'> => ({
  type: 'ResolvedRefs',
  status: 'False',
  reason: 'RefNotPermitted',
  message: `${first?.path ?? ''}: ${first?.message ?? ''}${more.length > 0 ? ` (and ${more.length} more)` : ''}`,
})
