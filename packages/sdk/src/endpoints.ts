/** Types of a client's requests and replies, derived from the contract. */
import type { CallOf, ReplyOf } from "@holdfast/contract/endpoint";
import type { ENDPOINTS } from "@holdfast/contract/endpoints";
import type { EndpointName } from "@holdfast/contract/routes";

type All = typeof ENDPOINTS;
type StreamName = { [N in EndpointName]: All[N]["reply"] extends string ? N : never }[EndpointName];

/** Every endpoint that replies with JSON, by name: its call and its reply. */
export type Endpoints = { [N in Exclude<EndpointName, StreamName>]: { call: CallOf<All[N]>; reply: ReplyOf<All[N]> } };

/** Endpoints that reply with a stream, with their calls. */
export type Streams = { [N in StreamName]: CallOf<All[N]> };
