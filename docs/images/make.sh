#!/usr/bin/env bash
# Makes the pictures of the report again, from a fit of the invented cohort. Needs
# bin/d3p, chromium, pdftoppm and convert (ImageMagick). The noise differs from run to
# run, and so do the pictures' numbers.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin/d3p fit --epsilon 1 --quiet --out "$work/run" datasets/cohort.csv >"$work/fit.txt"
report=$work/run/release/privacy.html

# shot WIDTH HEIGHT ANCHOR OUT: a picture of the report in a window of that size,
# scrolled to an anchor. A frame, since chromium opens no window below 500 pixels.
shot() {
    cat >"$work/frame.html" <<EOF
<style>body{margin:0}iframe{border:0;width:$1px;height:$2px}</style><iframe src="file://$report#$3" scrolling="no"></iframe>
EOF
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=3000 \
        --window-size="$(($1 > 500 ? $1 : 500)),$2" --screenshot="$work/shot.png" "file://$work/frame.html" 2>/dev/null
    convert "$work/shot.png" -crop "$1x$2+0+0" +repage -colors 64 "PNG8:docs/images/$4"
}
shot 1200 1460 top report-1200.png
shot 400 1560 top report-400.png
shot 1200 1100 s7 report-result.png

chromium --headless --no-sandbox --disable-gpu --no-pdf-header-footer --print-to-pdf="$work/report.pdf" "file://$report" 2>/dev/null
pdftoppm -r 60 -f 1 -l 3 -png "$work/report.pdf" "$work/page"
convert "$work"/page-*.png -bordercolor gray -border 4x0 +append -colors 64 PNG8:docs/images/report-print.png
