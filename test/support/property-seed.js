// Has property tests draw the same inputs in every run, so that a run on a change fails for the change alone.
// `FC_SEED=$RANDOM make test` draws others.
import { env } from 'node:process'
import fc from 'fast-check'

fc.configureGlobal({ seed: Number(env.FC_SEED ?? 20_261_121) })
