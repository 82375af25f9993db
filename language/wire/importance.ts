// Says what becomes of a member of an entry of a sync call at a gateway that is older than the member.

/**
 * `known`: to every gateway that reads `critical`. What comes later is either `critical`, which is everything that
 * restricts somebody: such a gateway refuses the entry; or `ignorable`: it serves the entry without the member.
 */
export type Importance = 'known' | 'critical' | 'ignorable'
