import { BenchHome } from "/work/main/bench/rig/home.ts";
import fs from "node:fs"; import {execFileSync,spawn} from "node:child_process"; import { openHome } from "@holdfast/platform";
await using home = new BenchHome(); await home.ok(["up"]); using client=home.client();
const seen=new Map<any,any>(); const ac=new AbortController();
const reading=(async()=>{try{for await(const e of client.events({query:{type:["session.ended"]}},ac.signal)) seen.get(e.session)?.([performance.now(),e])}catch(e){}})();
const ss=await home.spawnMany(client,40,["sleep","100000"]);
const sp=(await home.json<any>(["status"])).tmux.pid;
const st=spawn("strace",["-tt","-p",String(sp),"-o","/tmp/bx/strace.out"]); await new Promise(r=>setTimeout(r,500));
for(const s of ss){const {id,pid}=s;let done=false;const p=new Promise<any>(r=>seen.set(id,r));
 process.kill(pid!,"SIGTERM"); const late=new Promise(r=>setTimeout(()=>r("late"),1000)); if(await Promise.race([p,late])==="late"){console.log("missed",pid);break}}
st.kill("SIGINT"); await new Promise(r=>setTimeout(r,300));
ac.abort(); await reading;
