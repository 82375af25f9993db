// Says what becomes of a member of an entry of a sync call at a gateway that is older than the member.

/**
 * What a gateway does with a member that it does not know. `known`: every gateway that reads `critical` knows it. Members
 * that were added later are `critical` if they restrict someone: such a gateway rejects the entry; or `ignorable`: it
 * serves the entry without the member.
 */
export type Importance = 'known' | 'critical' | 'ignorable'
