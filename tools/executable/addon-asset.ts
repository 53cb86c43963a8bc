/** The name of the asset of the single executable that contains the addon of lmdb. */
export const addonAsset = "lmdb.node";
