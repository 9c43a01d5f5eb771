export * from "@noble/ed25519";
