#!/bin/sh
# ready.sh [URL]: exit status 0 while this node of CouchDB reaches most nodes of its cluster. One that is cut off from the others answers
# reads from its own copy, which is old, and takes writes that nobody else has (202): the Service must not lead to it, and `/_up` says nothing of it.
# Erlang notices a cut after net_ticktime (60 s); until then a read that wants two copies is not answered in time.
set -eu
node=${1:-http://127.0.0.1:5984}

ask() { # path, options of curl: the password is no argument, which others could read
    path=$1 && shift
    printf 'user = "%s:%s"\n' "$COUCHDB_USER" "$COUCHDB_PASSWORD" | curl -s -m 2 -K - "$@" "$node$path"
}
count() { printf %s "$1" | tr -cd @ | wc -c; }

curl -sf -m 2 "$node/_up" > /dev/null || { echo "CouchDB is not up"; exit 1; }
members=$(ask /_membership -f) || { echo "no answer to /_membership"; exit 1; }
reached=$(count "${members%%\"cluster_nodes\"*}")
nodes=$(count "${members#*\"cluster_nodes\"}")
[ $((reached * 2)) -gt "$nodes" ] || { echo "reaches $reached of $nodes nodes"; exit 1; }
ask /_users/_design/_auth -o /dev/null || { echo "a read of several copies is not answered"; exit 1; }
