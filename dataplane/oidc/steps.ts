// Composes the steps of an endpoint as one visible list: each step gets what is known so far and adds to it. A step
// in the wrong order does not compile; a step that rejects the request throws an OidcError.

type Step<Known, Added> = (known: Known) => Added | Promise<Added>

export interface Steps<Start, Known> {
  /** For tests and documentation. */
  readonly names: readonly string[]
  step<Added extends object>(name: string, run: Step<Known, Added>): Steps<Start, Known & Added>
  run(start: Start): Promise<Known>
}

/**
 * @example
 * const greeting = steps<{ name: string }>()
 *   .step('make text', ({ name }) => ({ text: `Hello ${name}` }))
 * await greeting.run({ name: 'Ann' }) // { name: 'Ann', text: 'Hello Ann' }
 */
export const steps = <Start extends object>(): Steps<Start, Start> =>
  following<Start, Start>([], (start) => Promise.resolve(start))

const following = <Start, Known extends object>(
  names: readonly string[],
  run: (start: Start) => Promise<Known>,
): Steps<Start, Known> => ({
  names,
  run,
  step: <Added extends object>(name: string, step: Step<Known, Added>) =>
    following<Start, Known & Added>([...names, name], async (start) => {
      const known = await run(start)
      return { ...known, ...(await step(known)) }
    }),
})
