"""A kernel's source beside what a compiler makes of it: `launch` one launch for both, `sites` what the accesses of each
do there, `matched` which instructions an access became, and `compare` all of it beside certified bounds."""
