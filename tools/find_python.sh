#!/bin/sh
# Print the first Python 3.11 on the PATH (or $PYTHON, where that is given), or say in one line what is missing.
right='import sys; sys.exit(sys.version_info[:2] != (3, 11))'
for name in ${PYTHON:-python3.11 python3 python /usr/bin/python3.11}; do
    if "$name" -c "$right" 2>/dev/null; then
        command -v "$name"
        exit 0
    fi
done
found=$("${PYTHON:-python3}" --version 2>&1 | head -n 1)
echo "Pilothouse needs Python 3.11, and ${PYTHON:-python3} is: ${found:-missing}. Install python3.11, or name it: make PYTHON=/path/to/python3.11 ..." >&2
exit 1
